class hello {
  notify { epp('hello/hello.epp', { 'name' => 'world' }): }
}
