# The page that reports are made of: built from viewer/ by tools/build_page, which does without where node is not there.
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/viewer/report_page.cpp
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page ${PROJECT_BINARY_DIR}/viewer
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/build_page ${viewer_sources} ${PROJECT_SOURCE_DIR}/viewer/index.html
          ${PROJECT_SOURCE_DIR}/viewer/package.json ${PROJECT_SOURCE_DIR}/viewer/package-lock.json
          ${PROJECT_SOURCE_DIR}/viewer/vite.config.ts ${PROJECT_SOURCE_DIR}/viewer/embed.mjs
  COMMENT "Building the report page"
  VERBATIM)
target_sources(mechanician_report PRIVATE ${PROJECT_BINARY_DIR}/viewer/report_page.cpp)
