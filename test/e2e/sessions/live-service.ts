import { afterEach } from '@jest/globals';
import { startLiveWorld, startTraffic, type Traffic } from '../../support/fakes/traffic.js';
import { createSession, type SessionResults } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';

export const rules = 4;
export const baseline = 'Answer well.';
export const isRising = (values: number[]) => values.every((value, at) => at === 0 || value >= values[at - 1]!);
export const rewardsOf = ({ history }: SessionResults) => history.map(({ best_reward }) => best_reward);

/** Instance n needs the rule n mod `rules`. */
export const score = (prompt: string, n: number) => ({
  reward: prompt.includes(`rule-${n % rules}.`) ? 1 : 0,
  feedback: `needs rule-${n % rules}.`,
});

/** A service for the caller-driven sessions of a file; traffic stops after each test. */
export function liveServiceOfFile() {
  const on = serviceOfFile(startLiveWorld);
  const running: Traffic[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((traffic) => traffic.stop()));
  });
  return {
    on,
    create: (more: Record<string, unknown> = {}) =>
      createSession(on.service, {
        rollouts: 'caller',
        policy: { provider: 'fake', model: 'live' },
        proposer: { provider: 'fake', model: 'proposer' },
        preflight: false,
        initial_prompt: { messages: [{ role: 'system', content: baseline }] },
        gepa: { population_size: 2, generations: 12, minibatch_size: 3, evaluation: { seeds: [0, 1, 2, 3] } },
        ...more,
      }),
    send(id: string, more: Partial<Parameters<typeof startTraffic>[0]> = {}): Traffic {
      const { apiKey } = on.service;
      const urls = () => [on.service.url];
      const traffic = startTraffic({ urls, apiKey, sessionId: id, inFlight: 8, score, ...more });
      running.push(traffic);
      return traffic;
    },
  };
}
