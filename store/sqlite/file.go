package sqlite

import (
	"database/sql"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
)

// The settings of every connection, whoever uses it. The store waits by itself
// where the file is locked: SQLite's own waiting does not hear of the end of a
// context. What is deleted is overwritten. The schema of a file is not trusted to
// call functions, and pages are looked at before they are believed.
const always = "_pragma=busy_timeout(0)&_pragma=synchronous(NORMAL)&_pragma=secure_delete(ON)" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_defensive=1&_dqs=0&_error_rc=1"

// connect returns up to n connections to the file, with further settings. None is
// made before it is used.
func connect(path string, n int, settings ...string) (*sql.DB, error) {
	return sqlitefile.Connect(path, n, append([]string{always}, settings...)...)
}
