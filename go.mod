module github.com/hocketvoice/hocket

go 1.26
