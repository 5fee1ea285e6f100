define a::d2 { fail('deep') }
