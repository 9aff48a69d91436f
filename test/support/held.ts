/**
 * Longest time in milliseconds that `work` keeps the event loop from anything else. Time in which
 * the machine runs other processes does not count, as far as it can be told: `tries` repeats work
 * that takes `boundMs`, and the shortest counts.
 */
export async function heldMs(work: () => unknown, boundMs = 200, tries = 5): Promise<number> {
  let shortest = Infinity;
  for (let n = 0; n < tries && shortest >= boundMs; n += 1) shortest = Math.min(shortest, await longestGap(work));
  return shortest;
}

async function longestGap(work: () => unknown): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  let longest = 0;
  let isDone = false;
  let last = now();
  const look = () => {
    const next = now();
    longest = Math.max(longest, Math.min(next.wall - last.wall, next.cpu - last.cpu));
    last = next;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  try {
    await work();
  } finally {
    isDone = true;
    look();
  }
  return longest;
}

function now(): { wall: number; cpu: number } {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1_000 };
}
