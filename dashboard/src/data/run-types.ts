import type { Answer, Item, Query } from '../../../src/client/index.js';

export type Run = Item<'listRuns'>;
export type RunsPage = Answer<'listRuns'>;
export type RunsQuery = NonNullable<Query<'listRuns'>>;
export type Sort = NonNullable<RunsQuery['sort']>;
export type Grouping = 'dataset' | 'model' | 'tag';
export type Group = NonNullable<RunsPage['groups']>[number];
