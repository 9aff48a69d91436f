import { meter, type Meter } from '../meter.js';
import { startRowsWorld, type RowsWorld } from './rows.js';

/** A rows world whose policy answers as many calls as the test allows; others wait. */
export interface MeteredWorld extends RowsWorld, Pick<Meter, 'allow' | 'hold'> {}

export async function startMeteredWorld(): Promise<MeteredWorld> {
  const world = await startRowsWorld();
  const { pass, end, allow, hold } = meter();
  world.model.reply(async (request) => {
    if (request.body.model === 'policy') await pass();
    return world.answer(request);
  });
  return {
    ...world,
    allow,
    hold,
    close: async () => {
      end();
      await world.close();
    },
  };
}
