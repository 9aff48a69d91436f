import type { ErrorRow } from './row.js';

/** Codes of requests that come too often, or while a part of the service is away. */
export const loadCodes = {
  rate_limit_exceeded: {
    status: [429],
    at: ['problem'],
    retry: true,
    meaning: 'A limit of requests or tokens in a minute, or of calls at a time, is used up',
    remedy: 'Wait for `retry-after`',
  },
  quota_exceeded: {
    status: [429],
    at: ['problem'],
    retry: true,
    meaning: 'A limit of jobs, rollouts, storage or money is used up',
    remedy: 'Wait for `retry-after` if it is sent; else raise the limit or delete jobs',
  },
  too_many_requests: {
    status: [429],
    at: ['problem'],
    retry: true,
    meaning: 'Without a key, the address would wait for more than 1 s: it is slowed to 100 requests a second',
    remedy: 'Send a key, or wait for `retry-after`',
  },
  too_many_failures: {
    status: [429],
    at: ['problem', 'error_details'],
    retry: true,
    meaning: 'Wrong keys came from the address too often; or (job) more rollouts failed than `max_failure_rate` allows',
    remedy: 'Wait for `retry-after`; or fix the cause of the failures',
  },
  headers_too_large: {
    status: [431],
    at: ['problem'],
    retry: false,
    meaning: 'The headers are larger than 16 KiB',
    remedy: 'Send less',
  },
  internal: {
    status: [500],
    at: ['problem', 'error_details', 'error_code'],
    retry: false,
    meaning: 'A fault of the service; its log has the cause',
    remedy: 'Report it with the `request_id`',
  },
  database_unavailable: {
    status: [503],
    at: ['problem'],
    retry: true,
    meaning: 'The database is unreachable, busy or full',
    remedy: 'Wait for `retry-after`',
  },
  temporal_unavailable: {
    status: [503],
    at: ['problem'],
    retry: true,
    meaning: 'Temporal is unreachable; the command was not delivered',
    remedy: 'Wait for `retry-after`',
  },
  search_attributes_missing: {
    status: [503],
    at: ['problem'],
    retry: true,
    meaning: 'The Temporal namespace lacks search attributes, so no job can start; nothing was stored',
    remedy: 'Have an operator add those that the answer names ([how](../operations.md#temporal))',
  },
  draining: {
    status: [503],
    at: ['problem'],
    retry: true,
    meaning: 'This instance is shutting down',
    remedy: 'Send it again; another instance answers',
  },
  over_capacity: {
    status: [503],
    at: ['problem'],
    retry: true,
    meaning: 'The process has as many calls or creates as it can work on',
    remedy: 'Wait for `retry-after`',
  },
  workflow_gone: {
    status: [503],
    at: ['problem', 'error_details'],
    retry: true,
    meaning: "The job's workflow no longer exists in Temporal; the job is closed soon",
    remedy: 'Send it again to read the end; create the job again',
  },
} as const satisfies Record<string, ErrorRow>;
