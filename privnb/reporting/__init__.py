"""What people read: findings and charts of results, notebooks run, pages made."""
