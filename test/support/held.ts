/** The longest that one request may hold the event loop, in milliseconds of an idle machine. */
export const maxHeldMs = 200;

/**
 * Longest time in milliseconds that `work` keeps the event loop from anything else, of a machine of
 * usual speed. Time in which the machine runs other processes does not count, as far as it can be
 * told: `tries` repeats work that takes `maxHeldMs`, and the shortest counts.
 */
export async function heldMs(work: () => unknown, tries = 5): Promise<number> {
  let shortest = Infinity;
  for (let n = 0; n < tries && shortest >= maxHeldMs; n += 1) {
    // Caches and a neighbour on the same core slow down what is measured, too.
    const slowness = howSlow();
    shortest = Math.min(shortest, (await longestGap(work)) / slowness);
  }
  return shortest;
}

/** CPU time of the loop below on a machine of usual speed. */
const usualMs = 3;

/** How many times slower than usual the machine is now; 1: not slower. */
function howSlow(): number {
  const times = Array.from({ length: 5 }, () => {
    const from = now().cpu;
    let sum = 0;
    for (let n = 0; n < 5_000_000; n += 1) sum = (sum * 31 + n) | 0;
    // The sum keeps the loop from being optimized away.
    return now().cpu - from + (sum & 0);
  });
  return Math.max(1, Math.min(...times) / usualMs);
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
