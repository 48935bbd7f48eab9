//! The log on standard error: what the journal has, and connections. It has names, addresses and
//! counts, and no values of rows.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text for each event
    #[default]
    Text,
    /// A JSON object for each event
    Json,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    /// Also rejections, and peers that cannot be reached
    Warn,
    /// Also runs and connections
    #[default]
    Info,
    /// Also every attempt to connect
    Debug,
}

pub(crate) fn start(format: LogFormat, level: LogLevel) -> Result<(), String> {
    let level = match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
    };
    // Libraries log by the crate `log`, if at all. It is not connected, since what they would write
    // is not known here.
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    let started = match format {
        LogFormat::Text => log.with_target(false).try_init(),
        LogFormat::Json => log.with_target(false).json().flatten_event(true).with_current_span(false).try_init(),
    };
    started.map_err(|error| error.to_string())
}
