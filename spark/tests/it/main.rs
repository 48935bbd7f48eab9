//! Publishing from real servers: Apache Spark's own Connect server, and Sail, which speaks the same
//! protocol. Each is started for its test on a free port and stopped by its process id.

mod census;
mod failures;
mod release;
mod same;
mod servers;

use servers::Server;

#[test]
fn apache_spark_publishes_what_memory_publishes() {
    let Some(server) = Server::spark("1g") else { return };
    release::the_files_of_a_cluster_are_compared_with_their_cells(&server.address());
    same::adult(&server.address());
    same::adult_divided(&server.address());
    same::adult_in_buckets(&server.address());
    same::equal_rows_are_parted(&server.address());
    same::random_tables(&server.address(), 16);
    same::tables_and_queries(&server.address());
    release::a_release_is_checked_by_the_cluster(&server.address());
    release::the_command_publishes_and_checks(&server.address());
    failures::a_failing_job_discloses_nothing(&server.address());
}

#[test]
fn sail_publishes_what_memory_publishes() {
    let Some(server) = Server::sail() else { return };
    same::adult(&server.address());
    same::adult_divided(&server.address());
    same::adult_in_buckets(&server.address());
    same::equal_rows_are_parted(&server.address());
    same::other_methods_are_refused(&server.address());
    same::random_tables(&server.address(), 80);
    release::a_release_is_checked_by_the_cluster(&server.address());
    release::the_command_publishes_and_checks(&server.address());
    failures::a_failing_job_discloses_nothing(&server.address());
}

#[test]
fn a_server_that_goes_away_leaves_no_release() {
    let Some(server) = Server::sail() else { return };
    failures::a_lost_server_leaves_nothing(server);
}

#[test]
#[ignore = "takes minutes: a million rows"]
fn a_census_is_published_alike() {
    let servers = [("sail", Server::sail()), ("apache-spark", Server::spark("4g"))];
    let there = servers.into_iter().filter_map(|(name, server)| Some((name, server?)));
    census::census(&there.collect::<Vec<_>>());
}
