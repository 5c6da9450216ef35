#include "mechanician/base/standard_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

namespace mechanician {
namespace {

/// What a process ends with that has closed the streams of `closed` (bits) and called f.
template <class F>
int status_without(int closed, F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int stream = 0; stream < 3; ++stream)
      if (closed & (1 << stream)) ::close(stream);
    ::_exit(f());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardStreams, NoFileGetsTheirDescriptors) {
  for (int closed = 0; closed < 8; ++closed)
    EXPECT_EQ(status_without(closed,
                             [] {
                               open_standard_streams();
                               return ::open("/dev/null", O_RDWR) > 2 ? 0 : 1;
                             }),
              0)
        << closed;
}

TEST(StandardStreams, WhatWasClosedCannotBeUsed) {
  EXPECT_EQ(status_without(7,
                           [] {
                             open_standard_streams();
                             char byte = 0;
                             return ::read(0, &byte, 1) == -1 && !write_all(1, "x") && !write_all(2, "x") ? 0 : 1;
                           }),
            0);
}

TEST(StandardStreams, OpenOnesStayAsTheyAre) {
  EXPECT_EQ(status_without(2,
                           [] {
                             const int flags = ::fcntl(0, F_GETFL);
                             open_standard_streams();
                             return ::fcntl(0, F_GETFL) == flags ? 0 : 1;
                           }),
            0);
}

TEST(StandardStreams, WritingWaitsForASlowReader) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const std::string text(1 << 20, 'x');
  std::string got;
  std::thread reader([&] {
    char some[4096];
    for (ssize_t n; (n = ::read(ends[0], some, sizeof some)) > 0;) got.append(some, static_cast<std::size_t>(n));
  });
  EXPECT_TRUE(write_all(ends[1], text));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(got, text);
}

TEST(StandardStreams, AReaderWhoHasGoneIsAnError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_FALSE(write_all(ends[1], "x"));
  EXPECT_EQ(errno, EPIPE);
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
}

}  // namespace
}  // namespace mechanician
