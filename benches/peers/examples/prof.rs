use peers::{approach::Kind, arena::{Arena, Volleys}, threads};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rigs: usize = args[2].parse().unwrap();
    let shots: usize = args[3].parse().unwrap();
    let reps: usize = args[4].parse().unwrap();
    let threads: usize = args.get(5).map_or(1, |t| t.parse().unwrap());
    threads::init_pool(threads);
    let kind = match args[1].split("-").next().unwrap() { "query" => Kind::Query, "messages" | "record" => Kind::Messages, _ => Kind::Kernel };
    let kinds = [kind, Kind::Kernel];
    let mut arena = Arena::play(rigs, args[1].contains("crowd"), &kinds, 1);
    if args[1] == "record" {
        let mut v = arena.entrants[0].record_us.clone();
        for seed in 2..reps as u64 { v.extend(Arena::play(rigs, false, &[Kind::Messages], seed).entrants[0].record_us.iter()); }
        println!("record {:?} copy {:?}", peers::measure::median(&v), peers::measure::median(&arena.copy_us));
        return;
    }
    let ticks: Vec<_> = (0..64usize.div_ceil(shots).max(1)).map(|t| Volleys::new(&arena, shots, 1000 + t as u64)).collect();
    let mut answers = vec![];
    let mut samples = [vec![], vec![]];
    for _ in 0..reps {
        for ((entrant, scene), s) in arena.each().zip(&mut samples) {
            let (mut w, mut c, mut rays) = (0.0, 0.0, 0);
            for t in &ticks { let sh = t.all(entrant.kind); let k = entrant.approach.trace(scene, sh, &mut answers); w += k.wall.as_secs_f64()*1e9; c += k.micros()*1e3; rays += sh.rays.len(); }
            let _ = c;
            s.push(w / rays as f64);
        }
    }
    let [a, b] = samples.map(|s| peers::measure::median(&s));
    println!("{} {a:.0} ns, kernel {b:.0} ns, x{:.2}", args[1], a / b);
}
