/** Rows with the same cause in their feedback. */
import { groupBy } from '../../util/group.js';
import { cutWithin } from '../../util/text.js';

const mostClusters = 30;
/** Characters of a cluster's text. */
const clusterChars = 200;

interface Cluster {
  feedback: string;
  count: number;
}

/** The first line of a feedback without what differs between rows: quoted texts and numbers. */
export function clusterText(feedback: string): string {
  const line = feedback.trimStart().split('\n', 1)[0]!;
  const masked = line
    .slice(0, 10 * clusterChars)
    .replaceAll(/"[^"]*"|`[^`]*`|“[^“”]*”/g, '"…"')
    .replaceAll(/\d+(?:[.,]\d+)*/g, '…');
  return cutWithin(masked.trim(), clusterChars);
}

/** The most frequent texts, else by the text. `texts`: those of `clusterText`. */
export function clustersOf(texts: readonly string[]): Cluster[] {
  return [...groupBy(texts, (text) => text)]
    .map(([feedback, all]) => ({ feedback, count: all.length }))
    .sort((one, two) => two.count - one.count || (one.feedback < two.feedback ? -1 : 1))
    .slice(0, mostClusters);
}
