import { gzipSync } from 'node:zlib';
import { answers, type Behaviour } from '../../support/fakes/container-answers.js';
import type { SeededChoice } from '../seeded-choice.js';

/** A container fault and its required consequence, from the table of the container contract. */
export interface ContainerFault {
  name: string;
  weight: number;
  /** The codes that the failed row may have. */
  codes: string[];
  /** Number of container calls in one attempt when this fault repeats every time. */
  tries: [least: number, most: number];
  /** Whether a retry may succeed: then half of the rollouts fail only once. */
  mendable: boolean;
  make(url: string, choice: SeededChoice): Behaviour;
  /** Least time between this call and the next. */
  waitMs?: number;
}

const gib = 1024 ** 3;
/** 1 GiB of zeros in 1 MiB of gzip members. Built once, because building blocks the ledgers. */
const member = gzipSync(Buffer.alloc(gib / 64));
export const gzipBomb = Buffer.concat(Array.from({ length: 64 }, () => member));

const wrong = (name: string, text: string, code = 'container_answer_invalid'): ContainerFault => ({
  name,
  weight: 2,
  codes: [code],
  tries: [1, 1],
  mendable: false,
  make: () => answers.raw(text),
});
const always = (name: string, weight: number, codes: string[], make: () => Behaviour): ContainerFault => ({
  name,
  weight,
  codes,
  make,
  tries: [1, 1],
  mendable: false,
});
const retried = (name: string, weight: number, codes: string[], make: () => Behaviour): ContainerFault => ({
  name,
  weight,
  codes,
  make,
  // The deadline may prevent the third.
  tries: [2, 3],
  mendable: true,
});
const busy = (status: number, form: 'seconds' | 'date' | 'none'): ContainerFault => ({
  name: `${status} Retry-After ${form}`,
  weight: 2,
  codes: ['container_busy'],
  // One second of tolerance within three tries of 3 s and their pauses.
  tries: [1, 12],
  mendable: true,
  // An HTTP date has whole seconds.
  waitMs: form === 'seconds' ? 1_000 : form === 'date' ? 0 : 500,
  make: () =>
    form === 'seconds'
      ? answers.busySeconds(1, status)
      : form === 'date'
        ? answers.busyUntil(() => new Date(Date.now() + 2_000), status)
        : answers.status(status),
});

export const containerFaults: ContainerFault[] = [
  retried('hang', 1, ['container_timeout'], answers.hang),
  retried('one byte a second', 1, ['container_timeout'], () => answers.drip()),
  ...[500, 502, 504].map((status) => retried(`${status}`, 2, ['container_error'], () => answers.status(status, 'no'))),
  retried('reset before the head', 3, ['container_connection_lost'], answers.reset),
  retried('reset after the head', 3, ['container_connection_lost'], answers.cut),
  ...[429, 503].flatMap((status) => (['seconds', 'date', 'none'] as const).map((form) => busy(status, form))),
  always('429 Retry-After an hour', 2, ['container_busy'], () => answers.busySeconds(3_600)),
  {
    ...always('redirect', 3, ['container_redirected'], answers.reset),
    make: (url, choice) => answers.status(choice.pick([301, 302, 303, 307, 308]), '', { location: `${url}/trap` }),
  },
  always('404', 1, ['container_rejected'], () => answers.status(404, 'no such route')),
  always('half a JSON', 3, ['container_answer_invalid'], answers.halfJson),
  always('1 GiB', 2, ['container_answer_too_large'], () => answers.huge(gib)),
  always('gzip bomb', 2, ['container_answer_invalid'], () =>
    answers.raw(gzipBomb, 200, { 'content-encoding': 'gzip' }),
  ),
  always('not HTTP', 2, ['container_answer_invalid'], answers.garbage),
  always('204', 3, ['container_answer_invalid'], answers.noContent),
  always('another seed', 3, ['container_answer_invalid'], answers.wrongSeed),
  always('another rollout', 3, ['container_answer_invalid'], answers.wrongRollout),
  always('success_status error', 2, ['rollout_failed'], () => answers.failedStatus('it broke')),
  always('a reward that never comes', 1, ['reward_timeout'], answers.pending202),
  wrong('a list', '[1]'),
  wrong('a text', '"1"'),
  wrong('null', 'null'),
  wrong('reward_info is a list', '{"reward_info": [1]}', 'reward_missing'),
  wrong('no reward', '{"reward_info": {}}', 'reward_missing'),
  wrong('reward is an object', '{"reward_info": {"outcome_reward": {"toString": 1}}}', 'reward_invalid'),
  wrong('NaN', '{"reward_info": {"outcome_reward": NaN}}'),
  wrong('Infinity', '{"reward_info": {"outcome_reward": Infinity}}'),
  wrong('1e400', '{"reward_info": {"outcome_reward": 1e400}}', 'reward_invalid'),
  wrong('"1"', '{"reward_info": {"outcome_reward": "1"}}', 'reward_invalid'),
  wrong('null reward', '{"reward_info": {"outcome_reward": null}, "reward": 1}', 'reward_invalid'),
];

/** Finds a fault by its name; undefined for `good`. */
export const containerFault = (name: string): ContainerFault | undefined =>
  containerFaults.find((fault) => fault.name === name);
