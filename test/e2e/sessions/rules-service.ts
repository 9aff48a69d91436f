import { afterEach } from '@jest/globals';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { createSession, readJob, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { startRulesWorld } from '../../support/worlds/rules.js';

/** A service on a rules world for the tests of a file, with GEPA sessions on it. */
export function rulesServiceOfFile() {
  const on = serviceOfFile(startRulesWorld);
  afterEach(() => on.world.reset());
  return {
    on,
    container: containersOfEachTest(),
    read: (id: string) => readJob<Session>(on.service, id),
    create: (more: object = {}, gepa: object = {}) =>
      createSession(on.service, {
        ...on.world.job,
        gepa: {
          population_size: 2,
          generations: 6,
          minibatch_size: 3,
          train_seeds: range(100, 40),
          evaluation: { seeds: range(0, 12) },
          ...gepa,
        },
        ...more,
      }),
  };
}
