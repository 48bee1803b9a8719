use std::{fmt, io};
use crate::shape::Area;
extern crate alloc;

pub const LIMIT: usize = 3;

#[derive(Debug)]
pub struct Grid<T> {
    cells: Vec<T>,
}

pub enum Cell {
    Empty,
    Full(u8),
}

pub union Bits {
    int: u32,
    float: f32,
}

pub type Row<T> = Vec<T>;

pub trait Draw {
    const WIDTH: usize;
    fn draw(&self, out: &mut dyn io::Write) -> io::Result<()>;
    fn name(&self) -> String {
        "a thing to draw".to_string()
    }
}

impl<T> Grid<T> {
    pub fn new(cells: Vec<T>) -> Self {
        fn check(n: usize) -> bool {
            n > LIMIT
        }
        Grid { cells }
    }
}

impl<T: fmt::Debug> fmt::Display for Grid<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "grid of cells")
    }
}

impl Draw for crate::outer::Frame<u8> {
    fn draw(&self, out: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

impl Draw for &Cell {
    async unsafe fn redraw(self) {}
}

macro_rules! grid {
    ($n:expr) => {
        Grid::new(vec![0; $n])
    };
}

pub mod inner {
    pub fn helper() {}

    pub struct Deep;

    impl Deep {
        pub const fn depth() -> u8 {
            1
        }
    }
}

fn main() {
    let f = |x: i32| x + 1;
    panic!(r#"raw "quoted" text"#);
}
