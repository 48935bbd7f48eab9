//! The answer of the cluster to one request, up to the message that it is complete.
//!
//! A server ends a stream of answers after a while, Apache Spark after two minutes, though its work
//! goes on: the rest is requested. The client's own methods take the end of a stream for the end of
//! the answer, so rows would be missing, a view not be there yet, and a table be read while it is
//! still written. So whatever is executed is requested here.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::ipc::reader::StreamReader;
use spark_connect::SparkError;
use spark_connect::row::Value;
use spark_connect_core::{ExecutePlanResponseReattachableIterator, RetryPolicy, SparkConnectClient, block_on};
use spark_connect_proto::command::CommandType;
use spark_connect_proto::execute_plan_response::ResponseType;
use spark_connect_proto::write_operation::{SaveMode, SaveType};
use spark_connect_proto::{
    Command, CreateDataFrameViewCommand, ExecutePlanRequest, ExecutePlanResponse, Plan, Read, Relation, Sql,
    UserContext, WriteOperation, plan, read, relation,
};

/// Streams one after the other that end at once and bring nothing: the server does not keep to the
/// protocol, or forgot the request.
const EMPTY_STREAMS_MAX: u32 = 20;
const EMPTY_STREAM_TIME: Duration = Duration::from_millis(100);
/// Before a stream is requested again that was cut.
const PAUSE: Duration = Duration::from_millis(500);

/// Hands on the rows of a query, some at once, until all came or `take` wants no more.
pub(crate) fn rows(
    client: &SparkConnectClient,
    statement: &str,
    mut take: impl FnMut(Vec<Vec<Value>>) -> ControlFlow<()>,
) -> Result<(), SparkError> {
    let root = plan::OpType::Root(relation_of(statement));
    let mut expected = 0;
    answers(client, root, |response| {
        let Some(ResponseType::ArrowBatch(batch)) = response.response_type else {
            return Ok(ControlFlow::Continue(()));
        };
        // Nothing came twice, and nothing is missing.
        if batch.start_offset.is_some_and(|offset| offset != expected) {
            return Err(broken(INCOMPLETE));
        }
        let rows = decoded(&batch.data)?;
        expected += rows.len() as i64;
        if batch.row_count != rows.len() as i64 {
            return Err(broken(INCOMPLETE));
        }
        Ok(take(rows))
    })
}

/// Gives a relation a name.
pub(crate) fn create_view(client: &SparkConnectClient, input: Relation, name: &str) -> Result<(), SparkError> {
    let name = name.to_owned();
    let view = CreateDataFrameViewCommand { input: Some(input), name, is_global: false, replace: true };
    execute(client, CommandType::CreateDataframeView(view))
}

/// Has the rows of a query written into a new folder of Parquet files.
pub(crate) fn write(client: &SparkConnectClient, statement: &str, path: &str) -> Result<(), SparkError> {
    let operation = WriteOperation {
        input: Some(relation_of(statement)),
        source: Some("parquet".to_owned()),
        mode: SaveMode::ErrorIfExists.into(),
        save_type: Some(SaveType::Path(path.to_owned())),
        // Sail would describe the columns once more, in a text that `check` does not read. Apache
        // Spark has no such option and ignores it.
        options: HashMap::from([("skip_arrow_metadata".to_owned(), "true".to_owned())]),
        ..WriteOperation::default()
    };
    execute(client, CommandType::WriteOperation(operation))
}

fn execute(client: &SparkConnectClient, command: CommandType) -> Result<(), SparkError> {
    let command = Command { command_type: Some(command) };
    answers(client, plan::OpType::Command(command), |_| Ok(ControlFlow::Continue(())))
}

/// The answer to a query.
pub(crate) fn relation_of(statement: &str) -> Relation {
    let query = Sql { query: statement.to_owned(), ..Sql::default() };
    Relation { rel_type: Some(relation::RelType::Sql(query)), ..Relation::default() }
}

/// The rows of files.
pub(crate) fn relation_of_files(format: &str, options: HashMap<String, String>, path: &str) -> Relation {
    let (format, paths) = (Some(format.to_owned()), vec![path.to_owned()]);
    let source = read::DataSource { format, options, paths, ..read::DataSource::default() };
    let files = Read { is_streaming: false, read_type: Some(read::ReadType::DataSource(source)) };
    Relation { rel_type: Some(relation::RelType::Read(files)), ..Relation::default() }
}

/// All that the server says to a request.
fn answers(
    client: &SparkConnectClient,
    wanted: plan::OpType,
    mut take: impl FnMut(ExecutePlanResponse) -> Result<ControlFlow<()>, SparkError>,
) -> Result<(), SparkError> {
    let request = ExecutePlanRequest {
        session_id: client.session_id().to_owned(),
        user_context: Some(UserContext::default()),
        plan: Some(Plan { op_type: Some(wanted) }),
        ..ExecutePlanRequest::default()
    };
    let execution = ExecutePlanResponseReattachableIterator::new(request);
    block_on(async {
        let mut stream = client.execute_plan_reattachable(execution.request().clone()).await?;
        while let Some(response) = stream.message().await? {
            execution.set_last_response_id(&response).await;
            if take(response)?.is_break() {
                return Ok(());
            }
        }
        let mut vain = 0;
        while !execution.is_completed().await {
            let begun = Instant::now();
            let mut brought = false;
            let cut = match client.reattach_execute(execution.create_reattach_request().await).await {
                Ok(mut stream) => loop {
                    match stream.message().await {
                        Ok(Some(response)) => {
                            brought = true;
                            execution.set_last_response_id(&response).await;
                            if take(response)?.is_break() {
                                return Ok(());
                            }
                        }
                        Ok(None) => break false,
                        Err(status) if RetryPolicy::default().can_retry(&status) => break true,
                        Err(status) => return Err(SparkError::from_grpc_status(status)),
                    }
                },
                Err(error) if error.grpc_code() == Some(UNAVAILABLE) => true,
                Err(error) => return Err(error),
            };
            vain = if brought || !cut && begun.elapsed() > EMPTY_STREAM_TIME { 0 } else { vain + 1 };
            if vain > EMPTY_STREAMS_MAX {
                return Err(broken(INCOMPLETE));
            }
            if vain > 0 {
                // A thread of its own waits here.
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    })
}

/// The status of a call to a server that does not answer.
const UNAVAILABLE: i32 = 14;

/// Classes of errors, as those of the cluster.
const INCOMPLETE: &str = "INCOMPLETE_ANSWER";
const UNREADABLE: &str = "UNREADABLE_ANSWER";

fn broken(class: &str) -> SparkError {
    SparkError::value(class, &[])
}

/// Rows of texts and numbers.
pub(crate) fn decoded(data: &[u8]) -> Result<Vec<Vec<Value>>, SparkError> {
    let unreadable = |_| broken(UNREADABLE);
    let mut rows = Vec::new();
    if data.is_empty() {
        return Ok(rows);
    }
    for batch in StreamReader::try_new(Cursor::new(data), None).map_err(unreadable)? {
        let batch = batch.map_err(unreadable)?;
        let first = rows.len();
        rows.resize_with(first + batch.num_rows(), || Vec::with_capacity(batch.num_columns()));
        for column in batch.columns() {
            let cells = rows[first..].iter_mut().zip(values(column.as_ref())?);
            cells.for_each(|(row, value)| row.push(value));
        }
    }
    Ok(rows)
}

fn values(column: &dyn Array) -> Result<Vec<Value>, SparkError> {
    let text = |text: Option<&str>| text.map_or(Value::Null, |text| Value::String(text.to_owned()));
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(text).collect(),
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().iter().map(|value| value.map_or(Value::Null, Value::Long)).collect()
        }
        DataType::Null => vec![Value::Null; column.len()],
        _ => return Err(broken(UNREADABLE)),
    })
}
