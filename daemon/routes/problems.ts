import type { RouteDeps } from './deps.ts';

/**
 * Returns the problems of settings, the configured model, slot files, upstream files and companion.env, with
 * file and line.
 */
export const allProblems = ({
  settings,
  registry,
  slots,
  upstreams,
  companion,
}: Pick<RouteDeps, 'settings' | 'registry' | 'slots' | 'upstreams' | 'companion'>) => [
  ...settings.problems(),
  ...registry.settingProblems(),
  ...slots.problems(),
  ...upstreams.problems(),
  ...(companion.last().plan?.problems ?? []),
];
