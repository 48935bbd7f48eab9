//! On macOS the linker needs an argument for symbols that are found when Python loads the module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
