/**
 * Trials to the optimum of categorical functions: our sampler (tuned on seeds from 100001 on) and
 * Optuna's. Takes over half an hour: node scripts/tool.mjs bench/tpe/main.ts [--seeds 1-100]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareToZero, sampleOf } from '../../src/core/math/statistics.js';
import { startOptuna } from '../peers/optuna/sampler.js';
import { optunaPython, optunaVersion } from '../peers/optuna/venv.js';
import { mean } from '../stats.js';
import { figure, markdown, type Line } from '../table.js';
import { families, type Family } from './landscapes.js';
import { openOurs } from './ours.js';
import { modes, trialsToOptimum, type Mode } from './trial-run.js';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1-100' },
    families: { type: 'string', default: '' },
    modes: { type: 'string', default: modes.map(({ name }) => name).join(';') },
  },
});
const [from = NaN, to = from] = values.seeds.split('-').map(Number);
if (!Number.isInteger(from) || !Number.isInteger(to) || to <= from) {
  throw new Error(`--seeds ${values.seeds}: give two numbers, as in 1-100`);
}
const chosen = families.filter(({ name }) => name.includes(values.families));
if (chosen.length === 0) {
  const known = families.map(({ name }) => name).join('; ');
  throw new Error(`--families ${values.families}: give a part of the names of some of ${known}`);
}
const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at);
const optuna = startOptuna(await optunaPython(join(import.meta.dirname, '..', '..', '.ratchet', 'bench-venv')));
const lines: Line[] = [];
try {
  for (const mode of values.modes.split(';').map(parseMode)) {
    const measured: { ours: number; peer: number }[] = [];
    for (const family of chosen) {
      const { line, ...means } = await compare(family, mode);
      lines.push(line);
      measured.push(means);
      process.stderr.write(`${line.what}: ${line.measured}; ${line.beside}; ratio ${line.ratio}\n`);
    }
    lines.push(tableLine(`${mode.name}: all (geometric means)`, [], [], measured));
  }
} finally {
  await optuna.stop();
}
process.stdout.write(`${markdown(lines)}\n`);

async function compare(family: Family, mode: Mode): Promise<{ line: Line; ours: number; peer: number }> {
  const ours: number[] = [];
  const peer: number[] = [];
  for (const seed of seeds) {
    ours.push(await trialsToOptimum(family, mode, seed, openOurs));
    peer.push(await trialsToOptimum(family, mode, seed, optuna.open));
  }
  const means = { ours: mean(ours), peer: mean(peer) };
  return { line: tableLine(`${mode.name}: ${family.name}`, ours, peer, [means]), ...means };
}

/** A line of the table; the ratio is the geometric mean of those of `means`. */
function tableLine(what: string, ours: number[], peer: number[], means: { ours: number; peer: number }[]): Line {
  const geometric = (of: number[]) => Math.exp(mean(of.map(Math.log)));
  const left = geometric(means.map(({ ours }) => ours));
  const right = geometric(means.map(({ peer }) => peer));
  return {
    what,
    measured: `${figure(left)}${interval(ours)} trials`,
    beside: `${figure(right)}${interval(peer)} trials: Optuna ${optunaVersion}`,
    ratio: figure(left / right),
    aim: 'at most 1, as ratio',
    met: left <= right ? 'met' : 'not met',
  };
}

function interval(trials: number[]): string {
  if (trials.length === 0) return '';
  const { low, high } = compareToZero(sampleOf(trials));
  return ` (${figure(low)} to ${figure(high)})`;
}

function parseMode(name: string): Mode {
  const mode = modes.find((known) => known.name === name);
  if (!mode)
    throw new Error(`--modes: there is no ${name}; expected some of ${modes.map(({ name }) => name).join(';')}`);
  return mode;
}
