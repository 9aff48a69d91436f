import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../support/jobs-over-http.js';
import { ask } from './ask.js';
import type { Dice } from './seeded-choice.js';
import type { AskedByName } from './evidence/evidence.js';
import { questionOfClient } from './keys.js';
import type { World } from './world.js';

/** A client that asks a name for an answer, one request after the other. */
export interface Client {
  asks: AskedByName[];
  /** Asks once more, whatever serves the name now, and stops. */
  stop(): Promise<void>;
}

const pauseMs = [10, 120] as const;
const streamed = 40;

/** Asks a name from now on until it is stopped. */
export function startClient({ url, apiKey }: World, name: string, dice: Dice): Client {
  const asks: AskedByName[] = [];
  let isOver = false;

  async function askOnce(): Promise<void> {
    const n = asks.length;
    const at = Date.now();
    const messages = [{ role: 'user', content: questionOfClient(n) }];
    const heard = await ask(`${url}${deployments}/${name}`, apiKey, {
      ...{ model: 'whatever', messages, stream: dice.chance(streamed) },
    });
    const { status, text, headers } = heard;
    asks.push({
      ...{ n, at, endedAt: Date.now(), status, text },
      deploymentId: headers?.get('x-ratchet-deployment-id') ?? null,
      snapshotId: headers?.get('x-ratchet-snapshot-id') ?? null,
    });
  }

  async function askOn(): Promise<void> {
    while (!isOver) {
      await askOnce();
      await delay(dice.between(...pauseMs));
    }
    await askOnce();
  }
  const asking = askOn();
  asking.catch(() => undefined);
  return {
    asks,
    stop: () => {
      isOver = true;
      return asking;
    },
  };
}
