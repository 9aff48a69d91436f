import { gepaVersion } from '../peers/gepa/venv.js';
import type { Pair, Side } from './compare.js';
import type { Line } from '../table.js';
import { mean, median } from '../stats.js';
import { reachedAfter } from './timeline.js';

const peerName = `gepa ${gepaVersion}`;
/** Aims: share of busy slots in percent, and of gepa's time. */
const leastBusy = 70;
const mostOfPeer = 0.5;

/** Wall time per rollout; `aimMs`: the target, or null. `missing`: why there is no peer. */
export function wallLine(what: string, pairs: readonly Pair[], missing: string, aimMs: number | null): Line {
  const perRollout = ({ usage }: Side) => usage.wallMs / usage.rollouts;
  const ours = pairs.map((pair) => perRollout(pair.ours));
  const both = pairs.flatMap(({ ours: own, peer }) => (peer ? [{ own: perRollout(own), peer: perRollout(peer) }] : []));
  return {
    what: `${what}: wall per rollout`,
    measured: summary(ours, 'ms'),
    beside:
      both.length > 0
        ? `${summary(
            both.map(({ peer }) => peer),
            'ms',
          )}: ${peerName}`
        : notShown(missing),
    ratio: both.length > 0 ? figure(median(both.map(({ own, peer }) => own / peer))) : '',
    aim: aimMs === null ? '' : `at most ${aimMs} ms`,
    met: aimMs === null ? 'no aim' : verdict(median(ours) <= aimMs),
  };
}

/**
 * Wall time until gepa's final true reward. A world that never reaches it counts as later than all
 * others in the median.
 */
export function reachedLine(what: string, pairs: readonly Pair[], missing: string): Line {
  const seconds = ({ reachedMs }: Side) => (reachedMs ?? Infinity) / 1_000;
  const both = pairs.flatMap(({ ours, peer }) => (peer ? [{ own: ours, peer }] : []));
  const line = {
    what: `${what}: wall until the true reward that gepa ends with`,
    aim: `at most ${mostOfPeer}, as ratio`,
  };
  if (both.length === 0) return { ...line, measured: '', beside: notShown(missing), ratio: '', met: 'no aim' };
  const own = both.map((pair) => seconds(pair.own));
  const ratio = median(both.map((pair) => seconds(pair.own) / seconds(pair.peer)));
  const reached = own.filter(Number.isFinite);
  const end = (sides: Side[]) =>
    `true reward at the end ${figure(mean(sides.map(({ trueReward }) => trueReward)))}, ` +
    `after ${Math.round(mean(sides.map(({ usage }) => usage.rollouts)))} rollouts`;
  const inTime =
    reached.length > 0 ? `${summary(reached, 's')} in ${reached.length} of ${own.length} worlds` : 'in no world';
  const peers = both.map(({ peer }) => peer);
  return {
    ...line,
    measured: `${inTime}; ${end(both.map((pair) => pair.own))}`,
    beside: `${summary(peers.map(seconds), 's')}; ${end(peers)}: ${peerName}`,
    ratio: Number.isFinite(ratio) ? figure(ratio) : 'never reached',
    met: verdict(ratio <= mostOfPeer),
  };
}

/** Share of the time of all slots in which a rollout was under way. */
export function busyLine(what: string, pairs: readonly Pair[], missing: string): Line {
  const percent = (sides: Side[]) => sides.map(({ usage }) => 100 * usage.utilisation);
  const { ours, peers } = sidesOf(pairs);
  return {
    what: `${what}: slots busy`,
    measured: summary(percent(ours), '%'),
    beside: peers.length > 0 ? `${summary(percent(peers), '%')}: ${peerName}` : notShown(missing),
    ratio: '',
    aim: `at least ${leastBusy} %`,
    met: verdict(median(percent(ours)) >= leastBusy),
  };
}

/** The longest chain of waits: calls of container and proposer, one after the other. */
export function depthLine(what: string, pairs: readonly Pair[], missing: string): Line {
  const depths = (sides: Side[]) => sides.map(({ usage }) => usage.depth);
  const { ours, peers } = sidesOf(pairs);
  return {
    what: `${what}: longest chain of calls`,
    measured: summary(depths(ours), 'calls'),
    beside: peers.length > 0 ? `${summary(depths(peers), 'calls')}: ${peerName}` : notShown(missing),
    ratio: peers.length > 0 ? figure(median(depths(ours)) / median(depths(peers))) : '',
    aim: '',
    met: 'no aim',
  };
}

/** Wall time until a true reward, and in how many worlds it was reached. */
export function levelLine(what: string, pairs: readonly Pair[], missing: string, level: number): Line {
  const { ours, peers } = sidesOf(pairs);
  const times = (sides: Side[]) => {
    const reached = sides.map(({ steps }) => reachedAfter(steps, level)).filter((ms) => ms !== null);
    const when =
      reached.length > 0
        ? summary(
            reached.map((ms) => ms / 1_000),
            's',
          )
        : 'never';
    return `${when} in ${reached.length} of ${sides.length} worlds`;
  };
  return {
    what: `${what}: wall until the true reward ${level}`,
    measured: times(ours),
    beside: peers.length > 0 ? `${times(peers)}: ${peerName}` : notShown(missing),
    ratio: '',
    aim: '',
    met: 'no aim',
  };
}

function sidesOf(pairs: readonly Pair[]): { ours: Side[]; peers: Side[] } {
  return { ours: pairs.map(({ ours }) => ours), peers: pairs.flatMap(({ peer }) => (peer ? [peer] : [])) };
}

function notShown(missing: string): string {
  return `not shown: ${peerName}: ${missing}`;
}

function verdict(holds: boolean): 'met' | 'not met' {
  return holds ? 'met' : 'not met';
}

/** Median and range. */
function summary(values: readonly number[], unit: string): string {
  return `${figure(median(values))} ${unit} (${figure(Math.min(...values))} to ${figure(Math.max(...values))})`;
}

function figure(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}
