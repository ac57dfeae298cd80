/** A container that cannot be; the message is its reason, in one line. */
export class ContainerStartError extends Error {}
