//! The types that `pg_type` lists: those of answers, and those that clients look up.

/// Number, name, name in full, length, category, number of the array type.
pub(super) const TYPES: &[(i64, &str, &str, i64, &str, i64)] = &[
    (16, "bool", "boolean", 1, "B", 1000),
    (17, "bytea", "bytea", -1, "U", 1001),
    (18, "char", "\"char\"", 1, "Z", 1002),
    (19, "name", "name", 64, "S", 1003),
    (20, "int8", "bigint", 8, "N", 1016),
    (21, "int2", "smallint", 2, "N", 1005),
    (23, "int4", "integer", 4, "N", 1007),
    (24, "regproc", "regproc", 4, "N", 1008),
    (25, "text", "text", -1, "S", 1009),
    (26, "oid", "oid", 4, "N", 1028),
    (114, "json", "json", -1, "U", 199),
    (700, "float4", "real", 4, "N", 1021),
    (701, "float8", "double precision", 8, "N", 1022),
    (705, "unknown", "unknown", -2, "X", 0),
    (1000, "_bool", "boolean[]", -1, "A", 0),
    (1001, "_bytea", "bytea[]", -1, "A", 0),
    (1005, "_int2", "smallint[]", -1, "A", 0),
    (1007, "_int4", "integer[]", -1, "A", 0),
    (1009, "_text", "text[]", -1, "A", 0),
    (1015, "_varchar", "character varying[]", -1, "A", 0),
    (1016, "_int8", "bigint[]", -1, "A", 0),
    (1021, "_float4", "real[]", -1, "A", 0),
    (1022, "_float8", "double precision[]", -1, "A", 0),
    (1033, "aclitem", "aclitem", 12, "U", 1034),
    (1034, "_aclitem", "aclitem[]", -1, "A", 0),
    (1042, "bpchar", "character", -1, "S", 1014),
    (1043, "varchar", "character varying", -1, "S", 1015),
    (1082, "date", "date", 4, "D", 1182),
    (1083, "time", "time without time zone", 8, "D", 1183),
    (1114, "timestamp", "timestamp without time zone", 8, "D", 1115),
    (1184, "timestamptz", "timestamp with time zone", 8, "D", 1185),
    (1186, "interval", "interval", 16, "T", 1187),
    (1231, "_numeric", "numeric[]", -1, "A", 0),
    (1700, "numeric", "numeric", -1, "N", 1231),
    (2205, "regclass", "regclass", 4, "N", 2210),
    (2206, "regtype", "regtype", 4, "N", 2211),
    (2249, "record", "record", -1, "P", 2287),
    (2278, "void", "void", 4, "P", 0),
    (2950, "uuid", "uuid", 16, "U", 2951),
    (3802, "jsonb", "jsonb", -1, "U", 3807),
];

/// The number of a type, by either name.
pub(super) fn oid(name: &str) -> Option<i64> {
    let name = name.strip_prefix("pg_catalog.").unwrap_or(name).to_lowercase();
    TYPES.iter().find(|(_, short, long, ..)| *short == name || *long == name).map(|(oid, ..)| *oid)
}

/// The name of a type in full.
pub(super) fn shown(oid: i64) -> Option<String> {
    let known = TYPES.iter().find(|(known, ..)| *known == oid).map(|(_, _, long, ..)| (*long).to_owned());
    known.or_else(|| Some(if oid == 0 { "-" } else { "???" }.to_owned()))
}
