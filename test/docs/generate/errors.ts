import { callCodes } from '../../../src/contracts/errors/calls.js';
import { jobCodes } from '../../../src/contracts/errors/jobs.js';
import { loadCodes } from '../../../src/contracts/errors/load.js';
import { requestCodes } from '../../../src/contracts/errors/requests.js';
import { rolloutCodes } from '../../../src/contracts/errors/rollouts.js';
import type { ErrorRow } from '../../../src/contracts/errors/row.js';
import { deploymentCodes } from '../../../src/contracts/errors/deployments.js';
import { scheduleCodes } from '../../../src/contracts/errors/schedules.js';
import { stateCodes } from '../../../src/contracts/errors/states.js';
import { table } from './table.js';

const groups: [title: string, codes: Record<string, ErrorRow>][] = [
  ['Any request', requestCodes],
  ['The state or value of what a request names', stateCodes],
  ['What a name serves', deploymentCodes],
  ['Load, limits and parts that are away', loadCodes],
  ['Model calls', callCodes],
  ['Ends of jobs', jobCodes],
  ['Ends of rollouts', rolloutCodes],
  ['Runs of schedules', scheduleCodes],
];

/** All error codes, a table for each group. */
export function errorTables(): string {
  return groups
    .map(([title, codes]) => {
      const rows = Object.entries(codes).map(([code, { status, at, meaning, remedy, retry }]) => [
        `\`${code}\``,
        status.join(', ') || '',
        at.map((place) => `\`${place}\``).join(', '),
        `${meaning}. ${remedy}.`,
        retry ? 'yes' : 'no',
      ]);
      return `### ${title}\n\n${table(['code', 'status', 'seen in', 'meaning and remedy', 'retry'], rows)}`;
    })
    .join('\n\n');
}
