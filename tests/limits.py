"""How long a program under test may take. A program that hangs in a loop uses the processor: the seconds of that are counted, which
do not pass while others have it. By the clock only a program that waits for something is found, and a busy machine has all the time."""
import resource

CLOCK = 3600        # seconds for one command, by the clock
PROCESSOR = 1800    # seconds of the processor for one process; minutes under the sanitizers are usual

_, most = resource.getrlimit(resource.RLIMIT_CPU)
PROCESSOR = PROCESSOR if most == resource.RLIM_INFINITY else min(PROCESSOR, most)
resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, most))      # of this process, and of all that it starts
