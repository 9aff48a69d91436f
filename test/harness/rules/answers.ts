import { containerFault } from '../faults/container.js';
import type { JobEvidence } from '../evidence/evidence.js';
import { grouped, hasOutcome, perJob, type Rule } from './rule.js';

/** Limit of a process's resident memory in MiB under answers of 1 GiB and gzip bombs. */
const memoryLimitMib = 600;

/** A container call with its behaviour. */
interface Call {
  at: number;
  fault: string;
}

function callsOf(job: JobEvidence): Map<string, Call[]> {
  const calls = new Map<string, Call & { rolloutId: string }>();
  for (const line of job.container) {
    const key = `${line.rolloutId}:${line.attempt}`;
    if (line.event === 'in') calls.set(key, { at: line.at, fault: 'good', rolloutId: line.rolloutId });
    const call = calls.get(key);
    if (line.event === 'plan' && call) call.fault = line.fault;
  }
  return grouped([...calls.values()], ({ rolloutId }) => rolloutId);
}

export const answerRules: Rule[] = [
  perJob('the row is what follows from what the container answered', (job) => {
    if (!job.hasContainer) return [];
    const calls = callsOf(job);
    return job.rollouts.filter(hasOutcome).flatMap(({ id, status, code }) => {
      const fault = containerFault(calls.get(id)?.at(-1)?.fault ?? 'good');
      const follows = fault ? status === 'failed' && fault.codes.includes(code ?? '') : status === 'succeeded';
      return follows ? [] : [`${id} is ${status} (${code}) after "${fault?.name ?? 'good'}"`];
    });
  }),
  perJob('only what another try may mend is tried again, and often enough', (job) => {
    const calls = callsOf(job);
    return job.rollouts.filter(hasOutcome).flatMap(({ id, resent, status }) => {
      // A rollout that is sent again after a kill starts over.
      if (resent > 0) return [];
      const all = calls.get(id) ?? [];
      const hopeless = all.slice(0, -1).filter((call) => !containerFault(call.fault)?.mendable);
      const last = containerFault(all.at(-1)?.fault ?? 'good');
      const [least, most] = last?.tries ?? [1, 1];
      return [
        ...hopeless.map((call) => `${id} was called again after "${call.fault}"`),
        ...(last && status === 'failed' && (all.length < least || all.length > most)
          ? [`${id} was called ${all.length} times with "${last.name}"`]
          : []),
      ];
    });
  }),
  perJob('Retry-After is kept', (job) =>
    [...callsOf(job)].flatMap(([id, calls]) =>
      calls.slice(1).flatMap((call, i) => {
        const { fault, at } = calls[i]!;
        const waitMs = containerFault(fault)?.waitMs ?? 0;
        // Timers may be a millisecond early.
        return call.at - at < waitMs - 5 ? [`${id}: "${fault}" was asked again after ${call.at - at} ms`] : [];
      }),
    ),
  ),
  perJob('redirects are not followed', ({ trapped }) => (trapped ? ['a redirect was followed'] : [])),
  {
    name: 'memory is bounded',
    broken: ({ memory }) =>
      Object.entries(memory).flatMap(([name, mib]) =>
        mib <= memoryLimitMib ? [] : [`${name} had ${mib} MiB, allowed are ${memoryLimitMib}`],
      ),
  },
];
