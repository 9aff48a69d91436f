import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { failureOf } from '../../src/core/jobs/fault.js';
import { isReported } from '../../src/service/worker.js';

test('the fault that ends a job is reported by its end alone', () => {
  const fault = ApplicationFailure.create(
    failureOf({ code: 'upstream_unreachable', message: 'refused', retryable: true }),
  );
  const workflowType = 'sessionWorkflow';
  expect(isReported('Activity failed', { workflowType, error: fault })).toBe(true);
  expect(isReported('Workflow failed', { workflowType, error: fault })).toBe(true);
  // A retry follows, or nothing else tells of it.
  expect(isReported('Activity failed', { workflowType, error: new Error('connection lost') })).toBe(false);
  expect(isReported('Activity failed', { workflowType: 'webhookWorkflow', error: fault })).toBe(false);
});
