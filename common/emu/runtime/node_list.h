/*
 * node_list.h — a list of different nodes of a graph: the dependencies of a node, or the tail of a
 * stream that is captured. A list filled with zeros is empty.
 *
 * A long list has a table of its nodes' places, so all functions take constant time.
 */
#ifndef CUDART_NODE_LIST_H
#define CUDART_NODE_LIST_H

#include "common/emu/machine/address_table.h"

#include <driver_types.h>

struct node; /* of a graph (graph.h) */

struct node_list {
    struct node **node;
    size_t count, room;
    struct address_table places; /* the index plus 1 of each node; empty if the list is short */
};

/* Adds a node at the end, unless the list has it. */
cudaError_t cudart_append(struct node_list *, struct node *);
bool cudart_contains(const struct node_list *, const struct node *);
/* Removes a node, and moves the last node to its place; false if the list does not have it. */
bool cudart_remove(struct node_list *, const struct node *);
/* Removes all nodes; the list keeps its memory. */
void cudart_clear(struct node_list *);
/* Removes all nodes and frees the memory. */
void cudart_empty(struct node_list *);

#endif
