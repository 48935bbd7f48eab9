//! Settings with the keys and certificates that they name: all that a reload replaces.

use std::path::Path;

use crate::settings::Settings;
use crate::tls::{AnalystTls, Tls, TlsError};

#[derive(Debug, Clone)]
pub struct Configured {
    pub settings: Settings,
    pub tls: Tls,
    /// Of the endpoint, where there is one.
    pub analysts: Option<AnalystTls>,
}

/// Why settings are not used.
#[derive(Debug, thiserror::Error)]
pub enum ConfiguredError {
    #[error("{0}")]
    Settings(#[from] hedgerow_config::ConfigErrors),
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// A reload changes something for which the node has to be restarted.
    #[error("`{0}` cannot change while the node runs\nhint: restart the node, or undo the change")]
    NeedsRestart(&'static str),
}

impl Configured {
    pub fn load(path: &Path) -> Result<Configured, ConfiguredError> {
        Configured::new(Settings::load(path)?)
    }

    pub fn new(settings: Settings) -> Result<Configured, ConfiguredError> {
        let tls = Tls::new(&settings)?;
        let analysts = settings.endpoint.as_ref().map(|options| AnalystTls::new(&settings, options)).transpose()?;
        Ok(Configured { settings, tls, analysts })
    }

    /// The same settings as they are now in their files. What all custodians agreed on, and where
    /// the node listens and writes, stays.
    pub fn reload(&self, path: &Path) -> Result<Configured, ConfiguredError> {
        let new = Configured::load(path)?;
        let (old, now) = (&self.settings, &new.settings);
        let listens = |settings: &Settings| settings.endpoint.as_ref().map(|options| options.listen);
        let fixed = [
            ("name", old.name == now.name),
            ("listen", old.listen == now.listen),
            ("data", old.data == now.data),
            ("policy", old.policy == now.policy),
            ("signing-key", old.signing_key == now.signing_key),
            ("metrics", old.metrics == now.metrics),
            ("endpoint.listen", listens(old) == listens(now)),
            ("rows", old.apart == now.apart),
            ("profile", old.profile == now.profile),
            ("promises", (old.sites, old.towards) == (now.sites, now.towards)),
            ("limits", old.limits == now.limits && old.message_bytes_max == now.message_bytes_max),
        ];
        match fixed.into_iter().find(|(_, same)| !same) {
            Some((key, _)) => Err(ConfiguredError::NeedsRestart(key)),
            None => Ok(new),
        }
    }
}
