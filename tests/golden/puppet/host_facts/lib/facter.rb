# As much of facter as the test wants: who is asked for what is written down.
module Facter
  @facts = {}
  @dirs = []
  class << self
    def reset() = nil
    def on_message() = nil
    def search(*dirs) = @dirs.concat(dirs)
    def add(name, &code) = @facts[name.to_s] = code
    def load_all() = @dirs.each { |d| Dir[d + '/*.rb'].sort.each { |f| load f } }

    def value(name)
      load_all
      warn "ASKED #{name}"
      @facts[name]&.call
    end

    def to_hash
      load_all
      warn 'ASKED all'
      @facts.transform_values(&:call)
    end
  end
end
