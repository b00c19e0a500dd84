package verdict

import "fmt"

// Record is one record at its place in a log. A nil key or value is a null one
// and differs from an empty one.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
}

// Out is one output that an input has to cause. Its partition is the
// producer's affair.
type Out struct {
	Topic string
	Key   []byte
	Value []byte
}

// Oracle is the program under test as a pure function of one input record: its
// outputs, in the order in which they have to appear. It is called once per
// input.
type Oracle func(in Record) []Out

// TopicPartition names a log.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func (tp TopicPartition) String() string { return fmt.Sprintf("%s[%d]", tp.Topic, tp.Partition) }

// End is where a log ends. Data is the offset after the last record with data,
// Log the end offset of the log. They differ when the log ends with control
// records, which a transactional writer leaves; a consumer that has read all of
// it may stand anywhere from Data to Log.
type End struct {
	Data int64
	Log  int64
}

// OpenTransaction is a transaction that has neither committed nor aborted.
type OpenTransaction struct {
	TransactionalID string
	State           string // as DescribeTransactions names it: Ongoing, PrepareCommit, ...
}

// Evidence is what a run left behind, gathered after it has ended. The order of
// the slices does not matter: logs are put in offset order first.
type Evidence struct {
	// Inputs are the data records of every input log.
	Inputs []Record
	// Oracle says what each of them has to cause.
	Oracle Oracle
	// Readers are the outputs as two independent read_committed readers saw
	// them, from the beginning of every output log to its end.
	Readers [2][]Record
	// Committed are the group's offsets, read stable: the next offset to
	// consume. A log without an offset is absent.
	Committed map[TopicPartition]int64
	// Ends are the ends of every log that the group consumes. A log with
	// inputs that is absent ends after its last input.
	Ends map[TopicPartition]End
	// Open are the transactions of the application that are still open.
	Open []OpenTransaction
}
