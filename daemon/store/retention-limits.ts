/** Limits of the request log and of usage. 0 days means no limit by age. */
export interface RetentionLimits {
  readonly requestRows: number;
  readonly requestDays: number;
  readonly usageRows: number;
  readonly usageDays: number;
}

/** The defaults of the settings. */
export const DEFAULT_RETENTION: RetentionLimits = {
  requestRows: 20_000,
  requestDays: 30,
  usageRows: 50_000,
  usageDays: 400,
};
