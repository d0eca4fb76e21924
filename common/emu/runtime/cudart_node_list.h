/*
 * cudart_node_list.h — a list of nodes of a graph, none of them twice: those that a node needs, or
 * those that come last in a stream that is captured. Filled with zeros it is empty.
 *
 * A long list has a table of its nodes' places, so that each function takes the same time however
 * long the list is.
 */
#ifndef CUDART_NODE_LIST_H
#define CUDART_NODE_LIST_H

#include "common/emu/machine/address_table.h"

#include <driver_types.h>

struct node; /* of a graph (cudart_graph.h) */

struct node_list {
    struct node **node;
    size_t count, room;
    struct address_table places; /* for each node its index, plus 1; empty: a short list */
};

/* Adds a node at the end, unless the list has it. */
cudaError_t cudart_append(struct node_list *, struct node *);
bool cudart_contains(const struct node_list *, const struct node *);
/* Takes a node out, whose place the last node takes; false if it was not in the list. */
bool cudart_remove(struct node_list *, const struct node *);
/* Takes all nodes out; the list keeps its memory. */
void cudart_clear(struct node_list *);
/* The same, and frees the memory. */
void cudart_empty(struct node_list *);

#endif
