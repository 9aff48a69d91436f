/** The answers that the pages of deployments show. */
import type { Answer } from '../../../../src/client/index.js';

export type Listed = Answer<'listDeployments'>['deployments'][number];
export type Deployment = Answer<'getDeployment'>;
export type Snapshot = Answer<'getSnapshot'>;
export type Change = Answer<'listDeploymentChanges'>['data'][number];
