import { rolloutWindowMs } from '../../src/clients/container/client.js';
import type { ActivityDeps } from '../deps.js';
import type { Part } from './part.js';

/**
 * A scorer's function waits behind those of all jobs, each of which may take an hour: the largest
 * `rollout_timeout`.
 */
const functionMs = 2 * 60 * 60_000;

/** Dependencies whose calls move a part of an activity's work as they return. */
export function watchedDeps(deps: ActivityDeps, part: Part): ActivityDeps {
  const { db, container, scorers, providers } = deps;
  return {
    ...deps,
    db: {
      ...db,
      org: (orgId, work) => part.call(db.org(orgId, work)),
      orgHot: (orgId, work) => part.call(db.orgHot(orgId, work)),
      orgApart: (orgId, work) => part.call(db.orgApart(orgId, work)),
      orgBatch: (orgId, statements) => part.call(db.orgBatch(orgId, statements)),
    },
    container: {
      ...container,
      health: (...asked) => part.call(container.health(...asked)),
      taskInfo: (...asked) => part.call(container.taskInfo(...asked)),
      rollout: ({ admit, ...request }, signal) =>
        part.call(container.rollout({ ...request, ...(admit && { admit: (stop) => part.turn(admit(stop)) }) }, signal)),
    },
    scorers: {
      ...scorers,
      askUrl: (scoring, ...asked) =>
        part.longCall(rolloutWindowMs(scoring.tryTimeoutMs), scorers.askUrl(scoring, ...asked)),
      runFunction: (...asked) => part.longCall(functionMs, scorers.runFunction(...asked)),
    },
    providers: {
      ...providers,
      forPayer: (payer, trace) => {
        const client = providers.forPayer(payer, trace);
        return { ...client, send: (...asked) => part.call(client.send(...asked)) };
      },
    },
  };
}
