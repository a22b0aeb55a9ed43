//! A display without a screen, and a client on it.

use core::time::Duration;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Instant,
};

use image::RgbaImage;
use serde_json::Value;

const DUEL: &str = env!("CARGO_BIN_EXE_duel");

/// A process that ends with this value.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(mut command: Command, what: &str) -> (Guarded, BufReader<ChildStdout>) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{what} cannot be started: {error}"));
    let stdout = child.stdout.take().expect("it is piped");
    (Guarded(child), BufReader::new(stdout))
}

/// An X server that shows nothing.
pub struct Desktop {
    display: String,
    _server: Guarded,
}

impl Desktop {
    /// A display of 1000 by 600 pixels.
    pub fn start() -> Self {
        let mut command = Command::new("Xvfb");
        // Without `-noreset` it starts anew, and refuses others, whenever its last client has gone.
        command.args(["-displayfd", "1", "-screen", "0", "1000x600x24", "-nolisten", "tcp", "-noreset"]);
        let (server, mut stdout) = start(command, "Xvfb");
        let mut number = String::new();
        stdout.read_line(&mut number).expect("Xvfb tells its number");
        Self { display: format!(":{}", number.trim()), _server: server }
    }

    fn xdotool(&self, arguments: &[&str]) -> String {
        let output = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output();
        let output = output.expect("xdotool can be started");
        assert!(output.status.success(), "xdotool {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().into()
    }

    /// The windows of a client of this name.
    pub fn windows(&self, name: &str) -> Vec<String> {
        let search = ["search", "--onlyvisible", "--name", &format!("^{name}$")];
        let output = Command::new("xdotool").args(search).env("DISPLAY", &self.display).output();
        // It fails if there are none.
        let output = output.expect("xdotool can be started");
        String::from_utf8_lossy(&output.stdout).lines().map(Into::into).collect()
    }

    fn window(&self, name: &str) -> String {
        self.windows(name).into_iter().next().expect("the window is there")
    }

    /// Takes a window away. Without a window manager, nobody is asked first.
    pub fn close(&self, name: &str) {
        self.xdotool(&["windowclose", &self.window(name)]);
    }

    /// Gives the keyboard to the client, and puts the pointer into its middle.
    pub fn focus(&self, client: &Client) {
        let window = self.window(&client.name);
        self.xdotool(&["windowfocus", "--sync", &window]);
        self.xdotool(&["mousemove", "--window", &window, "480", "270"]);
    }

    /// Clicks with the left button.
    pub fn click(&self) {
        self.press_mouse();
        thread::sleep(Duration::from_millis(80));
        self.release_mouse();
    }

    /// Presses the left button.
    pub fn press_mouse(&self) {
        self.xdotool(&["mousedown", "1"]);
    }

    /// Lets go of the left button.
    pub fn release_mouse(&self) {
        self.xdotool(&["mouseup", "1"]);
    }

    /// Moves the mouse by so many pixels, to the right and down.
    pub fn move_mouse(&self, right: i32, down: i32) {
        self.xdotool(&["mousemove_relative", "--", &right.to_string(), &down.to_string()]);
    }

    /// Holds a key down for a time.
    pub fn hold(&self, key: &str, time: Duration) {
        self.xdotool(&["keydown", key]);
        thread::sleep(time);
        self.xdotool(&["keyup", key]);
    }

    /// What is to be seen.
    pub fn picture(&self) -> RgbaImage {
        let output = Command::new("import").args(["-window", "root", "png:-"]).env("DISPLAY", &self.display).output();
        let output = output.expect("ImageMagick's import can be started");
        image::load_from_memory(&output.stdout).expect("it is a picture").to_rgba8()
    }
}

/// The whole duel, as users start it.
pub struct Launcher(Guarded);

impl Launcher {
    /// On the desktop.
    pub fn start(desktop: &Desktop) -> Self {
        let mut command = Command::new(DUEL);
        command.env("DISPLAY", &desktop.display).env_remove("WAYLAND_DISPLAY");
        Self(start(command, "the duel").0)
    }

    /// How it ended, if it has.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.0.0.try_wait().expect("it is a child of this process")
    }
}

/// The network of a test.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// In milliseconds.
    pub latency: u16,
    /// In milliseconds.
    pub jitter: u16,
    /// In per cent.
    pub loss: f32,
}

impl Conditions {
    fn flags(self) -> [String; 3] {
        let Self { latency, jitter, loss } = self;
        [format!("--latency={latency}"), format!("--jitter={jitter}"), format!("--loss={loss}")]
    }
}

/// The memory that a process holds, in MiB.
fn memory(process: &Guarded) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.0.id())).expect("it runs, on Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it has memory");
    let kibibytes: f64 = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("it is a number");
    kibibytes / 1024.0
}

/// A server of the duel.
pub struct Server {
    address: String,
    process: Guarded,
}

impl Server {
    /// On any free port, for as long as a test may take.
    pub fn start(conditions: Conditions) -> Self {
        let mut command = Command::new(DUEL);
        command.args(["server", "--address=127.0.0.1:0", "--seconds=3600", "--evidence"]).args(conditions.flags());
        let (process, mut stdout) = start(command, "the server");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server tells its address");
        let address = line.trim().strip_prefix("listening on ").expect("it is an address");
        Self { address: address.into(), process }
    }

    /// The memory that it holds, in MiB.
    pub fn memory(&self) -> f64 {
        memory(&self.process)
    }
}

/// A client in a window, and what it tells of itself.
pub struct Client {
    name: String,
    lines: Receiver<Value>,
    process: Guarded,
}

impl Client {
    /// For a person, in the upper left corner of the desktop.
    pub fn start(desktop: &Desktop, server: &Server, conditions: Conditions) -> Self {
        Self::open(desktop, server, conditions, "tester", &["--position=0,0", "--size=960,540"])
    }

    /// For a bot, in a small window beside those with lower numbers.
    pub fn start_bot(desktop: &Desktop, server: &Server, conditions: Conditions, name: &str, number: i32) -> Self {
        let position = format!("--position={},0", number * 490);
        Self::open(desktop, server, conditions, name, &["--bot", "--size=480,270", &position])
    }

    fn open(desktop: &Desktop, server: &Server, conditions: Conditions, name: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(DUEL);
        command.env("DISPLAY", &desktop.display).env_remove("WAYLAND_DISPLAY");
        command.args(["client", "--name", name, "--connect", &server.address, "--tell"]);
        command.args(arguments).args(conditions.flags());
        let (process, stdout) = start(command, "the client");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let values = stdout.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
            values.map(|value| sender.send(value)).take_while(Result::is_ok).for_each(drop);
        });
        Self { name: name.into(), lines, process }
    }

    /// The memory that it holds, in MiB.
    pub fn memory(&self) -> f64 {
        memory(&self.process)
    }

    /// The newest state, and not one that was told before now.
    pub fn next(&mut self) -> Value {
        while self.lines.try_recv().is_ok() {}
        self.lines.recv_timeout(Duration::from_secs(30)).expect("the client goes on telling")
    }

    /// Waits until something is so.
    pub fn wait(&mut self, what: &str, seconds: u64, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        loop {
            let state = self.lines.recv_timeout(Duration::from_secs(30)).expect("the client goes on telling");
            if is_so(&state) {
                return state;
            }
            assert!(Instant::now() < deadline, "waited {seconds} s for {what}: {state}");
        }
    }
}
