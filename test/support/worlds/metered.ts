import { startRowsWorld, type RowsWorld } from './rows.js';

/** A rows world whose policy answers as many calls as the test allows; others wait. */
export interface MeteredWorld extends RowsWorld {
  /** Allows more calls; Infinity: all from now on. */
  allow(calls: number): void;
  /** Holds all calls from now on. */
  hold(): void;
}

export async function startMeteredWorld(): Promise<MeteredWorld> {
  const world = await startRowsWorld();
  let allowed = 0;
  let waiting: (() => void)[] = [];
  const release = () => {
    while (allowed > 0 && waiting.length > 0) {
      allowed -= 1;
      waiting.shift()!();
    }
  };
  world.model.reply(async (request) => {
    if (request.body.model === 'policy') {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        release();
      });
    }
    return world.answer(request);
  });
  return {
    ...world,
    allow: (calls) => {
      allowed += calls;
      release();
    },
    hold: () => (allowed = 0),
    close: async () => {
      // Calls that nobody waits for any more.
      waiting.forEach((resolve) => resolve());
      waiting = [];
      await world.close();
    },
  };
}
