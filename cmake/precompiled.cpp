// Only here to give the precompiled headers a target to belong to (cmake/layers.cmake).
