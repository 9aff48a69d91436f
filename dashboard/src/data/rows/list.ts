import type { PageList } from '../page-list.js';
import type { Row, RowsPage } from './types.js';

export type RowList = PageList<Row, RowsPage>;
