//! The studio as a browser, a stranger's page and another user of the machine meet it.

mod browser;
mod client;
mod community;
mod exports;
mod memory;
mod pages;
mod security;
mod solidity;
mod speed;
mod way;
