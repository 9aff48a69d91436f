/** The position of a row in a list by `created_at` and id. */
export interface Position {
  /** To the microsecond. */
  createdAt: string;
  id: string;
}

/** The column with the time of a row's position. */
export const positionColumn = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as position`;
