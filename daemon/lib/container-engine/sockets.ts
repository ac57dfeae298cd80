/** Inputs for the candidate socket paths. */
export interface SocketLocations {
  /** The configured socket, which is then the only candidate. Empty if none is configured. */
  readonly configured: string;
  /** The runtime folder of this user. Undefined when there is none. */
  readonly runtimeFolder: string | undefined;
}

/**
 * Returns the candidate socket paths of container engines. The user's own come first, because they need no
 * root rights.
 */
export function socketCandidates({ configured, runtimeFolder }: SocketLocations): string[] {
  if (configured !== '') return [configured.replace(/^unix:\/\//, '')];
  const own =
    runtimeFolder === undefined
      ? []
      : [`${runtimeFolder}/podman/podman.sock`, `${runtimeFolder}/docker.sock`];
  return [...own, '/run/podman/podman.sock', '/var/run/docker.sock'];
}
