import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../../support/jobs-over-http.js';
import { ask } from './ask.js';
import type { SeededChoice } from '../seeded-choice.js';
import type { AskedByName } from '../evidence/evidence.js';
import { questionOfClient } from '../jobs/keys.js';
import type { World } from '../worlds/world.js';

/** A client that sends requests to a name, one after the other. */
export interface Client {
  asks: AskedByName[];
  /** Sends one last request and stops. */
  stop(): Promise<void>;
}

const pauseMs = [10, 120] as const;
const streamed = 40;

/** Sends requests to a name, streaming or not, until it is stopped. */
export function startClient(
  { url, apiKey }: Pick<World, 'url' | 'apiKey'>,
  name: string,
  choice: SeededChoice,
): Client {
  const asks: AskedByName[] = [];
  let isOver = false;

  async function askOnce(): Promise<void> {
    const n = asks.length;
    const at = Date.now();
    const messages = [{ role: 'user', content: questionOfClient(n) }];
    const heard = await ask(`${url}${deployments}/${name}`, apiKey, {
      model: 'whatever',
      messages,
      stream: choice.chance(streamed),
    });
    const { status, text, headers } = heard;
    asks.push({
      n,
      at,
      endedAt: Date.now(),
      status,
      text,
      deploymentId: headers?.get('x-ratchet-deployment-id') ?? null,
      snapshotId: headers?.get('x-ratchet-snapshot-id') ?? null,
    });
  }

  async function askOn(): Promise<void> {
    while (!isOver) {
      await askOnce();
      await delay(choice.between(...pauseMs));
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
