import type { AskedByName, Evidence } from '../evidence/evidence.js';
import { askOf } from '../jobs/keys.js';
import { deploymentsIn, liveInTurn } from './deployments.js';
import { perJob, type Rule } from './rule.js';

const isAnswered = ({ status, text }: AskedByName): boolean => status === 200 && text !== null;
/** The output of a graph of graph-world.ts. */
const ofGraph = /^(rule-\d+|unknown)$/;

/** Whether the model, or a model of the graph, was at fault for this request. */
const isModelAtFault = ({ n }: AskedByName, { model }: Evidence): boolean =>
  model.some(({ key, fault }) => fault !== 'good' && askOf(key) === `client=${n}`);

/** A rule on each request of the client. */
const perAsk = (name: string, look: (asked: AskedByName, evidence: Evidence) => string[]): Rule => ({
  name,
  broken: (evidence) =>
    evidence.asks.flatMap((asked) => look(asked, evidence).map((what) => `request ${asked.n}: ${what}`)),
});

export const clientRules: Rule[] = [
  perAsk('who asks a name is answered by one deployment, with what that serves', (asked, evidence) => {
    if (!isAnswered(asked)) return [];
    const { deploymentId, snapshotId, text } = asked;
    const { deployment } = deploymentsIn(evidence.jobs).find(({ id }) => id === deploymentId) ?? {};
    if (!deployment || deployment.liveAt === null) return [`${deploymentId} answered, which never was live`];
    const isIts = deployment.prompt === null ? ofGraph.test(text!) : text === deployment.prompt;
    // JSON objects without a text pass through: caller and model agree on their form.
    const isOfModel = text === '' && isModelAtFault(asked, evidence);
    return [
      ...(deployment.snapshotId === snapshotId ? [] : [`${deploymentId} answered by ${snapshotId}`]),
      ...(isIts || isOfModel ? [] : [`${deploymentId} does not say "${text}"`]),
    ];
  }),
  {
    name: 'a name is served by one deployment after the other, in the end by the last',
    broken({ jobs, asks, overAt }) {
      const turns = liveInTurn(jobs).map(({ id }) => id);
      const answered = asks.filter(isAnswered);
      return answered.flatMap(({ n, at, deploymentId }, index) => {
        const turn = turns.indexOf(`${deploymentId}`);
        const least = at >= overAt ? turns.length - 1 : turns.indexOf(`${answered[index - 1]?.deploymentId}`);
        return turn >= least ? [] : [`request ${n} was answered by ${deploymentId} after ${turns[least]}`];
      });
    },
  },
  perAsk(
    'a name answers once it is served, but while what answers is down or its model at fault',
    (asked, evidence) => {
      if (isAnswered(asked)) return [];
      const { n, at, endedAt, status } = asked;
      const { asks, kills } = evidence;
      const hasServed = asks.slice(0, n).some((earlier) => earlier.deploymentId !== null);
      // Unknown, then being built.
      if ((status === 404 || status === 409) && !hasServed && at < evidence.overAt) return [];
      const isDown = kills.some((kill) => kill.serving && kill.at <= endedAt && at <= kill.until);
      const mayBreak = status === 0 || status === 200 || status >= 500;
      if (isDown && mayBreak) return [];
      if (isModelAtFault(asked, evidence)) return [];
      return [`it was answered with ${status}`];
    },
  ),
  perJob('a deployment counts every answer, and no request that was not made', (job, { asks, kills }) => {
    if (!job.deployment) return [];
    const { requests, errors, aborted } = job.deployment.counted;
    const own = asks.filter(({ deploymentId }) => deploymentId === job.id);
    const unknown = asks.filter(({ status, deploymentId }) => status === 0 && deploymentId === null);
    const answered = own.filter(isAnswered).length;
    // A call that waits for the database dies with its process.
    const least = answered - kills.filter(({ serving }) => serving).length;
    return [
      ...(requests <= own.length + unknown.length
        ? []
        : [`it counts ${requests}, asked were at most ${own.length + unknown.length}`]),
      ...(requests - errors - aborted >= least
        ? []
        : [`it counts ${requests} (${errors} errors), ${answered} were answered`]),
    ];
  }),
];
