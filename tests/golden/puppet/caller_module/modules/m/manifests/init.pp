class m { contain m::config }
