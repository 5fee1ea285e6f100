module PuppetX
  ATTRIBUTES = %i[speed duplex].freeze
end
