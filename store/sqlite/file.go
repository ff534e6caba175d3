package sqlite

import (
	"database/sql"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
)

// always are the settings of all connections. The store itself waits for locks, since
// SQLite's own waiting does not end with a context. Deleted data is overwritten. The
// schema of a file may not call functions, and pages are checked when they are read.
const always = "_pragma=busy_timeout(0)&_pragma=synchronous(NORMAL)&_pragma=secure_delete(ON)" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_defensive=1&_dqs=0&_error_rc=1"

// connect returns a pool of up to n connections to the file, with additional settings.
// It opens no connection before one is used.
func connect(path string, n int, settings ...string) (*sql.DB, error) {
	return sqlitefile.Connect(path, n, append([]string{always}, settings...)...)
}
