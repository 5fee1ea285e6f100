# what cmake --install and CPack put where
