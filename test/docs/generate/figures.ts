import { read, section, tableRows } from '../pages.js';

const benchmarks = read('docs/benchmarks.md');

/** The part of the benchmarks below a heading: its commit, and its rows by their first cell. */
function measured(heading: string) {
  const text = section(benchmarks, heading);
  const all = tableRows(text);
  const rows = new Map(all.map(([what, ...cells]) => [what!, cells]));
  const row = (what: string): string[] => {
    const cells = rows.get(what);
    if (!cells) throw new Error(`docs/benchmarks.md has no row "${what}" below "${heading}".`);
    return cells;
  };
  const commit = /(?:[Cc]ommit|cfb694a8…) ?`?([0-9a-f]{8})\b/.exec(text)?.[1];
  return {
    text,
    commit: () => {
      if (commit === undefined) throw new Error(`"${heading}" names no commit.`);
      return commit;
    },
    /** What was measured, and what stands beside it. */
    of: (what: string) => ({ value: row(what)[0]!, beside: row(what)[1]!.split(': ')[0]! }),
    row,
    rows: all.map(([, ...cells]) => cells),
  };
}

const service = measured('## The service');
const inTime = measured('## A GEPA session in time, beside the official `gepa`');
const search = measured('## The search, beside the official `gepa`');
const busy = measured('## A crowd');
const together = measured('## Jobs at once');

const rollouts = 'evaluation, 5000 seeds, no-op container, 64 at once: rollouts';
const session = 'GEPA session, 409 rollouts of 0 ms, 8 at once: wall per rollout';
const crowd = '50 sessions and 50 evaluations at once: rollouts, 20 ms each';
const crowdMemory = '50 sessions and 50 evaluations at once: peak memory of API and worker';
const largeMemory = 'evaluation, 10,000 seeds: peak memory of API and worker';
const until = 'GEPA session, 800 rollouts of 50 ms, 8 at once: wall until the true reward that gepa ends with';

const aSecond = (text: string): string => text.replace(/ \/s$/, ' rollouts/s');
const number = (text: string): number => Number.parseFloat(text);

/** The first number after a word of a cell. */
function numberAfter(text: string, words: string): string {
  const found = new RegExp(`${words} ([0-9.]+)`).exec(text)?.[1];
  if (found === undefined) throw new Error(`No number after "${words}" in "${text}".`);
  return found;
}

function memory(): { idle: string; large: string; crowd: string } {
  const idle = /Idle they take\s+(\d+ MiB)/.exec(service.text)?.[1];
  if (idle === undefined) throw new Error('docs/benchmarks.md does not name the idle memory.');
  return { idle, large: service.of(largeMemory).value, crowd: busy.of(crowdMemory).value };
}

/** The bullets with figures of the README's section "Measured". */
export function figuresOfReadme(): string {
  const proxy = service.of('proxy at 100/s: p50');
  const more = (number(proxy.value) - number(proxy.beside)).toFixed(1);
  const { value: ours, beside: theirs } = inTime.of(until);
  const end = 'true reward at the end';
  const besideGepa = inTime.row(until)[1]!;
  const at400 = search.rows
    .filter((cells) => cells.length === 7)
    .map((cells) => [number(cells[2]!), number(cells[3]!)]);
  const range = (at: number) => {
    const values = at400.map((pair) => pair[at]!);
    return `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`;
  };
  return bullets([
    `${aSecond(service.of(rollouts).value)} in one evaluation, ${service.of(session).value} a rollout in a session,
     ${aSecond(busy.of(crowd).value)} in 100 jobs at once (commit ${busy.commit()}); a model call through the proxy takes ${more} ms (p50) more
     than a direct one. 2 slow cores for everything; the others at commit ${service.commit()}.`,
    `With 50 ms rollouts, 8 at once, a session has the reward that \`gepa\` 0.1.4 ends with after ${ours.split(' (')[0]},
     \`gepa\` after ${theirs.split(' (')[0]}, and ${numberAfter(ours, end)} instead of ${numberAfter(besideGepa, end)} at
     the end (commit ${inTime.commit()}).`,
    `After 400 rollouts, one at a time, on worlds with hidden rules (\`bench/curve\`, worlds 1001 to 1020): mean true
     reward ${range(1)}, the official \`gepa\` 0.1.4 ${range(0)}. MIPRO and graph jobs are compared with DSPy and
     \`gepa\` too.`,
  ]);
}

/** The bullets with figures of the section "Sizing". */
export function figuresOfOperations(): string {
  const { idle, large, crowd: ofCrowd } = memory();
  const cpu = together.rows.map((cells) => number(cells[3]!));
  return bullets([
    `**Memory** of API and worker together: ${idle} idle, ${large} with an evaluation of 10,000 seeds, ${ofCrowd} with a
     hundred jobs (commit ${busy.commit()}).`,
    `**Rollouts** of one evaluation: ${aSecond(service.of(rollouts).value)} with a container that answers at once; 1,000
     of 50 ms, 50 at once, take ${service.of('evaluation, 1000 seeds of 50 ms, 50 at once: wall').value}. A hundred jobs
     together: ${aSecond(busy.of(crowd).value)} (commit ${busy.commit()}).`,
    `**CPU** of API, worker, Postgres and Temporal together: ${service.of(session.replace(/wall.*/, 'CPU per rollout of API, worker, Postgres and Temporal')).value}
     for each rollout of a session; ${Math.min(...cpu)} to ${Math.max(...cpu)} ms with 1 to 500 jobs at once (commit
     ${together.commit()}), the most where jobs are small. For each model call through the proxy, of API and worker:
     ${service.of('proxy at 100/s: CPU a call').value}.`,
  ]).concat(`\n\nAll but those that name another are of commit ${service.commit()}.`);
}

/** List items, wrapped as Prettier does at 100 columns. */
function bullets(items: readonly string[]): string {
  return items.map((item) => wrapped(`- ${item}`)).join('\n');
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= 100) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `  ${word}`);
  }
  return lines.join('\n');
}
