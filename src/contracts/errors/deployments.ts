import type { ErrorRow } from './row.js';

/** Codes of requests about what a name serves. */
export const deploymentCodes = {
  canary_in_progress: {
    status: [409],
    at: ['problem', 'error_details'],
    retry: true,
    meaning: 'Another version of the name is being rolled out',
    remedy: 'Wait for its end, or promote it or roll it back',
  },
  canary_not_running: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'No version of the name is being rolled out',
    remedy: 'Leave it; `GET …/changes` says what the name served',
  },
  not_migratable: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The name serves a graph, or texts of spans inside calls, which rows cannot judge',
    remedy: 'Create a deployment with the new model and a gate with `container_url`',
  },
  not_checkable: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The name serves a graph, or texts of spans inside calls, which rows cannot judge',
    remedy: 'Evaluate it in a container',
  },
  too_few_requests: {
    status: [409],
    at: ['problem'],
    retry: true,
    meaning: 'Too few kept requests of the name can be rows: `found` of `needed`',
    remedy: 'Keep texts by `log`, report corrected answers, or widen the filter',
  },
  not_awaiting_approval: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The checkup has no deployment that waits for an approval',
    remedy: 'Read its `approval`',
  },
  approval_expired: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The name serves another version than the checkup compared with',
    remedy: 'Check it up again',
  },
  deployment_failed: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The newest deployment of the name failed, and none serves it',
    remedy: 'Read its error, then deploy again',
  },
  label_not_removable: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The label production is what its name serves',
    remedy: 'Set it to another version, or delete the deployment',
  },
  deployment_not_live: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The deployment does not serve its name, so it cannot be rolled back',
    remedy: 'Name the deployment that is live',
  },
  too_many_schedules: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'The name has as many schedules as a name may have',
    remedy: 'Delete or change one',
  },
  nothing_before: {
    status: [409],
    at: ['problem'],
    retry: false,
    meaning: 'No earlier deployment had the name',
    remedy: 'Deploy another prompt',
  },
} as const satisfies Record<string, ErrorRow>;
