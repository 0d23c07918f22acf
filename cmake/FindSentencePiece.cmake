# SentencePiece::SentencePiece, the processor, and SentencePiece::train, the trainer. SentencePiece has no CMake files of
# its own.
find_path(SentencePiece_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SentencePiece_LIBRARY sentencepiece)
find_library(SentencePiece_TRAIN_LIBRARY sentencepiece_train)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: libsentencepiece-dev")
if(SentencePiece_FOUND AND NOT TARGET SentencePiece::SentencePiece)
  add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED)
  set_target_properties(SentencePiece::SentencePiece PROPERTIES
    IMPORTED_LOCATION ${SentencePiece_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR})
  add_library(SentencePiece::train UNKNOWN IMPORTED)
  set_target_properties(SentencePiece::train PROPERTIES
    IMPORTED_LOCATION ${SentencePiece_TRAIN_LIBRARY} INTERFACE_LINK_LIBRARIES SentencePiece::SentencePiece)
endif()
